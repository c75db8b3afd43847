"""What is done with tags: define them, set them on things, see what is called how."""

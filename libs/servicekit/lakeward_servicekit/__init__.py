"""What the shell of every Lakeward service needs; no concern's own rules live here."""

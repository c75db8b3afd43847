"""Storage profiles: where a warehouse lies and how it is reached, by kind.

profile   the kinds in one type: parse, replace, describe
s3        S3 and what speaks its protocol        stackit   an S3 with fewer knobs
adls      Azure Data Lake Storage Gen2           onelake   Microsoft Fabric       gcs   Google Cloud Storage
urls      endpoints, in one spelling             rules     what several kinds share
"""

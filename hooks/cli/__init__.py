"""The commands of ``noderotation``: thin, each one only reads its flags, asks and prints."""

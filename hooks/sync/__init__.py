"""The sync hooks: each only chains observe -> decide -> apply -> answer."""

"""The customize hooks: which related objects Metacontroller sends along with each parent."""

"""Published figures beside measured ones: tables, pictures, and where every number came from."""

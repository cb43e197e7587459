"""The built-in policies, a JSON file each."""

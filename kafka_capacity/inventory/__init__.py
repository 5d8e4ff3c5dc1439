"""Where inventories come from, how they are checked, and how they are staged."""

# Tests that belong to no single folder.

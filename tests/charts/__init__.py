"""What every chart promises: its objects are valid, its values are checked, both Helms read it alike."""

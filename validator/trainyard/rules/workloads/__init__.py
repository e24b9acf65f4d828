"""WL: jobs of Volcano, LeaderWorkerSet and Ray, and AppWrappers."""

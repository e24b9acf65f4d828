"""WL: jobs of Volcano and LeaderWorkerSet, and AppWrappers."""

"""Jobs by their kinds: operators, queues, controllers, and the names of their pods."""

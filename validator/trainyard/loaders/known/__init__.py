"""Values of Trainyard's charts other than training-job, and the charts that belong to them."""

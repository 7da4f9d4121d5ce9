"""The yardstick of autoscaling policies: misses and paid idle on six real curves of demand."""

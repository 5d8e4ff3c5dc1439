"""If the brokers change, what moves: which replicas, how many bytes, in which order, how long, and does it fit?"""

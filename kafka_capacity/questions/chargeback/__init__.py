"""Chargeback: what the cluster costs today, shared out to topics, groups and owners; and bytes between racks."""

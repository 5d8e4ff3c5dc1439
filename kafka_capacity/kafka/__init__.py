"""What Kafka does, exactly: checked by recorded answers of its code and by live brokers. No plan, money or report."""

"""Results to plain data, to charts, to a page and an e-mail. :mod:`kafka_capacity.report.render` makes all of them."""

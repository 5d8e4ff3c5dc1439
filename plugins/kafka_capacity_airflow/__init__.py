"""What Airflow gains: settings, the store behind a connection, the Spark operator, mail, links and macros."""

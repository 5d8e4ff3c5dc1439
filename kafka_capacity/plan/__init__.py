"""The steps of a plan, from a request to a published report, without Airflow or Spark: both call these."""

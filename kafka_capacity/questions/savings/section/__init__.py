"""What the report shows of this question: a module each section, and the views, tables and charts they are made of."""

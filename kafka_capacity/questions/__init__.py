"""What users ask, a folder a question. A question imports no other; what several need stands below them."""

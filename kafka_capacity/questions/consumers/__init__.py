"""How many consumers does a group need, and what does a change of them cost?"""

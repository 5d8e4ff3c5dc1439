"""How good were earlier predictions?"""

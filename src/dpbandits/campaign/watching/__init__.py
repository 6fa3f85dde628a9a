"""Does what comes back depend on the arm, where it should not?"""

"""Laws of the total error, sampling and noise together, of terms and their combinations.  Pure array functions."""

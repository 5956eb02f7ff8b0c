I will list the orders first, then add up their totals.

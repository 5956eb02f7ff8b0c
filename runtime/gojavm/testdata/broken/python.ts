orders = tools.list_orders(customer="c9")
for order in orders:
    print(order["id"])

{"name": "list_orders", "arguments": {"customer": "c9"}}

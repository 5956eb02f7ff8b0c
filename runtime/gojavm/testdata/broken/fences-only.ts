```ts
const orders = await tools.list_orders({ customer: 'c9' });
```
```ts
return orders.length;
```

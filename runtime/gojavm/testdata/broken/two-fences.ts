Here is the first part of it:
```js
const a = 1;
```
And here is the second part:
```js
return a;
```

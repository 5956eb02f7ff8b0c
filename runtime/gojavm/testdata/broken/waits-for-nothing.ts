let resume;
const gate = new Promise(resolve => { resume = resolve });
console.log('waiting');
await gate;
return 'done';

const customers = ['c9'];
return custmers.length;

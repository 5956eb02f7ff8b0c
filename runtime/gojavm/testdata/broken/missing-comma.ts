const query = {
  customer: 'c9'
  max: 10
};
return query;

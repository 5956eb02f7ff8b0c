const name = 'Ada';
return <b>{name}</b>;

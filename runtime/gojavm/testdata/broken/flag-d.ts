const m = /b+/d.exec('abbb');
return m.indices[0];

const m = 'a(b'.match(/(/);
return m;

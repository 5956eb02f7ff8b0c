class Closed {
  constructor(id: string) { this.id = id }
}
throw new Closed('o1');

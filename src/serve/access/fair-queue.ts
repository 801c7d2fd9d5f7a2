/** Queue in which the clients take turns, and in the turns of a client its users. Pure. */

/** Places that one client may have, so that others find some. */
export const MOST_OF_CLIENT = 32;
export const MOST_WAITING = 64;

export class FairQueue<T> {
  /** The next ones come first: of clients, of users and of items. No list is empty. */
  readonly #clients = new Map<string, Map<string, T[]>>();
  #size = 0;

  /** Returns the item that has no place: the last one of the user, or of the client, with the most. A tie keeps those that wait. */
  add(client: string, user: string, item: T): T | undefined {
    const users = this.#clients.get(client) ?? new Map<string, T[]>();
    const places = users.get(user) ?? [];
    places.push(item);
    users.set(user, places);
    this.#clients.set(client, users);
    this.#size++;
    if (sizeOf(users) > MOST_OF_CLIENT) return this.#removeLast(client, user);
    if (this.#size <= MOST_WAITING) return undefined;
    return this.#removeLast(largestOf(this.#clients, client, sizeOf)[0], user);
  }

  take(): T | undefined {
    for (const [client, users] of this.#clients) {
      for (const [user, places] of users) {
        toEnd(this.#clients, client, users);
        toEnd(users, user, places);
        const item = places.shift();
        this.#forget(client, user);
        return item;
      }
    }
    return undefined;
  }

  #removeLast(client: string, preferred: string): T {
    const [user, places] = largestOf(this.#clients.get(client)!, preferred, (one) => one.length);
    const item = places.pop()!;
    this.#forget(client, user);
    return item;
  }

  #forget(client: string, user: string): void {
    this.#size--;
    const users = this.#clients.get(client)!;
    if (users.get(user)!.length === 0) users.delete(user);
    if (users.size === 0) this.#clients.delete(client);
  }
}

function toEnd<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
}

function sizeOf(users: ReadonlyMap<string, readonly unknown[]>): number {
  let size = 0;
  for (const places of users.values()) size += places.length;
  return size;
}

/** `preferred` counts if several are the largest. */
function largestOf<V>(all: ReadonlyMap<string, V>, preferred: string, size: (one: V) => number): [string, V] {
  return [...all].reduce((most, one) => {
    const more = size(one[1]) - size(most[1]);
    return more > 0 || (more === 0 && one[0] === preferred) ? one : most;
  });
}

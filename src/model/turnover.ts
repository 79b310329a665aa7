/**
 * Maps and sets for what comes and goes with every request. V8 gives a hash table that has once been
 * promoted to old memory its successors there too, and whatever was in the table when one took over
 * is then promoted with it, although it is deleted soon after. With a few such tables on its way
 * nothing of a request dies young, and a third of the time goes into collecting it. So these replace
 * their table, by a new and therefore young one, before it grows old.
 *
 * They are complete but for one thing: whoever adds while iterating must iterate over a copy.
 */

/** Copying is worth it from here on; with more entries it costs at most one copy of an entry a write. */
const FEWEST_WRITES = 64;

export function createTurnoverMap<K, V>(): Map<K, V> {
  let table = new Map<K, V>();
  let writes = 0;

  const map: Map<K, V> = {
    get: (key) => table.get(key),
    has: (key) => table.has(key),
    set(key, value) {
      writes += 1;
      if (writes > FEWEST_WRITES + table.size) {
        table = new Map(table);
        writes = 0;
      }
      table.set(key, value);
      return map;
    },
    delete: (key) => table.delete(key),
    clear() {
      table = new Map();
    },
    get size() {
      return table.size;
    },
    keys: () => table.keys(),
    values: () => table.values(),
    entries: () => table.entries(),
    forEach(visit) {
      for (const [key, value] of table) visit(value, key, map);
    },
    [Symbol.iterator]: () => table.entries(),
    [Symbol.toStringTag]: "Map",
  };
  return map;
}

export function createTurnoverSet<T>(): Set<T> {
  const table = createTurnoverMap<T, T>();

  const set: Set<T> = {
    has: table.has,
    add(value) {
      table.set(value, value);
      return set;
    },
    delete: table.delete,
    clear: table.clear,
    get size() {
      return table.size;
    },
    keys: table.keys,
    values: table.keys,
    entries: table.entries,
    forEach(visit) {
      for (const value of table.keys()) visit(value, value, set);
    },
    [Symbol.iterator]: table.keys,
    [Symbol.toStringTag]: "Set",
  };
  return set;
}

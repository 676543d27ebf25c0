/** A map with an index of its groups, so that reading one group does not scan all entries. */

/** Entries in insertion order, overall and per group. `by` names the groups and returns the group of a value. */
export class GroupedMap<Value, Name extends string> extends Map<string, Value> {
  private readonly grouped: readonly { readonly of: (value: Value) => string; readonly members: Members<Value> }[];
  private readonly byName: Readonly<Record<Name, Members<Value>>>;

  constructor(by: Readonly<Record<Name, (value: Value) => string>>) {
    super();
    const names = Object.keys(by) as Name[];
    this.byName = Object.fromEntries(names.map((name) => [name, new Map()])) as Record<Name, Members<Value>>;
    this.grouped = names.map((name) => ({ of: by[name], members: this.byName[name] }));
  }

  override set(key: string, value: Value): this {
    const before = this.get(key);
    for (const { of, members } of this.grouped) {
      const group = of(value);
      if (before !== undefined && of(before) !== group) leave(members, of(before), key);
      const inGroup = members.get(group);
      if (inGroup === undefined) members.set(group, new Map([[key, value]]));
      else inGroup.set(key, value);
    }
    return super.set(key, value);
  }

  override delete(key: string): boolean {
    const before = this.get(key);
    if (before !== undefined) for (const { of, members } of this.grouped) leave(members, of(before), key);
    return super.delete(key);
  }

  override clear(): void {
    for (const { members } of this.grouped) members.clear();
    super.clear();
  }

  /** Returns the values of one group. */
  inGroup(name: Name, group: string): readonly Value[] {
    return [...(this.byName[name].get(group)?.values() ?? [])];
  }
}

type Members<Value> = Map<string, Map<string, Value>>;

function leave<Value>(members: Members<Value>, group: string, key: string): void {
  const inGroup = members.get(group);
  inGroup?.delete(key);
  if (inGroup?.size === 0) members.delete(group);
}

/** Modules of src that have the tables of options, metrics and attributes. */
export interface TableModules {
  readonly settings: object;
}

/** Loads them. `load` takes the path of a module below src/, without its extension. */
export function modulesFrom(load: (module: string) => Promise<object>): Promise<TableModules>;
/** Text of each generated file by its path. */
export function generated(modules: TableModules, read: (file: string) => string): Promise<Record<string, string>>;

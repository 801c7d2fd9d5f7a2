/** Text of each generated file by its path, from the modules of src/settings that describe options. */
export function generated(settings: object, read: (file: string) => string): Promise<Record<string, string>>;

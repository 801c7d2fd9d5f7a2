/** Returns CHROMIUM, or a Chromium in PATH. */
export function chromiumPath(): string | undefined;

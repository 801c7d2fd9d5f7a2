/** Colours of the theme for canvases, which know no variables of CSS. */

const found = new Map<string, string>();

/** Returns the colour of a variable in theme.css, in the theme that is shown. */
export function colour(name: string): string {
  const known = found.get(name);
  if (known !== undefined) return known;
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  found.set(name, value);
  return value;
}

export function faded(name: string, opacity: number): string {
  return colour(name).replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`);
}

/** Forgets the colours: the theme has changed. */
export function forgetColours(): void {
  found.clear();
}

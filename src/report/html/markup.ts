/** Elements as text. Pure. */
import { oneLine } from '../../ground/one-line.js';

/** Text that needs no escaping any more. */
export type Markup = string & { readonly kind: 'markup' };

type MarkupContent = Markup | readonly MarkupContent[];
type MarkupAttributes = Readonly<Record<string, string | number | undefined>>;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Elements without content. */
const VOID = ['meta', 'path', 'rect', 'circle'];

/** Names come from rings, and may hold anything. */
export function escapedText(text: string): Markup {
  return oneLine(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!) as Markup;
}

export function tag(name: string, attributes: MarkupAttributes, ...content: readonly MarkupContent[]): Markup {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const texts = given.map(([key, value]) => ` ${key}="${escapedText(String(value))}"`).join('');
  return (VOID.includes(name) ? `<${name}${texts}/>` : `<${name}${texts}>${joinedMarkup(content)}</${name}>`) as Markup;
}

export function joinedMarkup(content: MarkupContent): Markup {
  return (typeof content === 'string' ? content : content.map(joinedMarkup).join('')) as Markup;
}

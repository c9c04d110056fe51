// A small part of Markdown as elements: headings, lists, links, emphasis, code. Text never becomes HTML.

import type { ComponentChildren } from 'preact';
import { type Block, readBlocks, safeHref } from './markdown-text.ts';

/** `top`: the level of a heading `#`, so that the page's headings stay in order. */
export function Markdown({ text, top = 3 }: { text: string; top?: 2 | 3 }) {
  return (
    <div class="markdown">
      {readBlocks(text).map((block, index) => (
        <BlockElement key={`${index}`} block={block} top={top} />
      ))}
    </div>
  );
}

function BlockElement({ block, top }: { block: Block; top: 2 | 3 }) {
  switch (block.kind) {
    case 'heading':
      return (
        <div
          role="heading"
          aria-level={Math.min(6, top + block.level - 1)}
          data-level={block.level}
        >
          {inline(block.text)}
        </div>
      );
    case 'list': {
      const items = block.items.map((item, index) => <li key={`${index}`}>{inline(item)}</li>);
      return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case 'code':
      return <pre>{block.text}</pre>;
    case 'quote':
      return <blockquote>{inline(block.text)}</blockquote>;
    case 'rule':
      return <hr />;
    case 'text':
      return <p>{inline(block.text)}</p>;
    default:
      return block satisfies never;
  }
}

/** Code before emphasis, so that stars in code stay stars. Each form's text is read again for the forms inside. */
const spans =
  /`([^`]+)`|\[([^\]]+)\]\(([^()\s]+)\)|\*\*([^*]+(?:\*[^*]+\*[^*]*)*)\*\*|__([^_]+)__|\*([^*\s][^*]*)\*|(?<![\w])_([^_]+)_(?![\w])|(https?:\/\/[^\s<>()]+[^\s<>().,;:!?])/;

function inline(text: string): ComponentChildren[] {
  const found = spans.exec(text);
  if (!found) return [text];
  const [all, code, label, target, strong, strong2, soft, soft2, bare] = found;
  const before = text.slice(0, found.index);
  const after = inline(text.slice(found.index + all.length));
  return [
    before,
    span({ all, code, label, target, strong: strong ?? strong2, soft: soft ?? soft2, bare }),
    ...after,
  ];
}

function span(found: {
  all: string;
  code: string | undefined;
  label: string | undefined;
  target: string | undefined;
  strong: string | undefined;
  soft: string | undefined;
  bare: string | undefined;
}): ComponentChildren {
  if (found.code !== undefined) return <code>{found.code}</code>;
  if (found.strong !== undefined) return <strong>{inline(found.strong)}</strong>;
  if (found.soft !== undefined) return <em>{inline(found.soft)}</em>;
  const href = safeHref(found.target ?? found.bare ?? '');
  if (href === undefined) return found.all;
  return (
    <a href={href} rel="noopener noreferrer">
      {found.label ?? found.bare}
    </a>
  );
}

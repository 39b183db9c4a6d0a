import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";

const plugins = [remarkGfm];

/**
 * Markdown from a tool or a person. No HTML, no remote pictures (the page's policy would refuse them), and links that say
 * where they lead and tell the other side nothing.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="max-w-[72ch] space-y-3 text-base text-ink-2 [&_a]:text-accent-ink [&_a]:underline [&_code]:rounded-sm [&_code]:bg-sunken [&_code]:px-1 [&_code]:font-mono [&_code]:text-xs [&_h3]:font-semibold [&_h3]:text-ink [&_li]:ml-5 [&_ol]:list-decimal [&_pre]:overflow-x-auto [&_pre]:rounded-lg [&_pre]:border [&_pre]:border-line [&_pre]:bg-sunken [&_pre]:p-3 [&_table]:text-sm [&_td]:border [&_td]:border-line [&_td]:px-2 [&_td]:py-1 [&_th]:border [&_th]:border-line [&_th]:px-2 [&_th]:py-1 [&_th]:text-left [&_ul]:list-disc">
      <ReactMarkdown
        remarkPlugins={plugins}
        components={{
          // A heading of the text is none of the page.
          h1: "h3",
          h2: "h3",
          h4: "h3",
          h5: "h3",
          h6: "h3",
          a: ({ href, children }) => (
            <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
              {children}
            </a>
          ),
          img: ({ alt }) => <span className="text-ink-3">[{alt || "picture"}]</span>,
          pre: ({ children }) => (
            <pre tabIndex={0} role="region" aria-label="Code">
              {children}
            </pre>
          ),
        }}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}

"use strict";
// Sorting, filtering and copying of tables, and copying of commands. The page is complete without it.
(() => {
  const UNITS = {
    KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50, kB: 1e3, MB: 1e6, GB: 1e9,
    min: 60, h: 3600, d: 86400,
  };
  const make = (tag, text, parent) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };
  // "1 d 3 h", "9.6 TiB", "−$3.20", "3 → 5" (by the first), "unbounded"; nothing for a dash.
  const amount = text => {
    if (/unbounded|never/.test(text)) return Infinity;
    const first = text.split(/→|\bto\b|[(;]/)[0];
    const parts = [...first.matchAll(/([\d,]*\.?\d+)\s*([A-Za-z]*)/g)];
    if (!parts.length) return null;
    const sum = parts.reduce((all, [, n, unit]) => all + Number(n.replaceAll(",", "")) * (UNITS[unit] ?? 1), 0);
    return /[−-]\$?\d/.test(first) ? -sum : sum;
  };
  // Days in their order: "already" and "not today" are before all of them, "not before" or "beyond" a day is after it.
  const inOrder = text => text.replace(/^(?:already|not today)\b.*/, "0").replace(/^(?:not before|beyond) (\d{4}-.*)/, "$1~");
  const textOf = cell => cell.innerText.trim();
  // A row, and the rows that belong to it: its note and its details.
  const recordsOf = table => {
    const found = [];
    for (const row of table.tBodies[0].rows) {
      if (row.matches(".note, .more")) found.at(-1).push(row);
      else found.push([row]);
    }
    return found;
  };

  const sort = (table, column, head) => {
    const isFigure = head.classList.contains("n");
    const was = head.getAttribute("aria-sort");
    const isDown = was ? was === "ascending" : isFigure;
    const keyed = recordsOf(table).map(rows => {
      const text = (rows[0].cells[column].textContent || "").trim();
      return { rows, value: isFigure ? amount(text) : text === "—" ? null : inOrder(text) };
    });
    const compare = (a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
      const order = isFigure
        ? (a.value > b.value) - (a.value < b.value)
        : a.value.localeCompare(b.value, "en", { numeric: true });
      return isDown ? -order : order;
    };
    for (const one of table.tHead.rows[0].cells) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    table.tBodies[0].append(...keyed.sort(compare).flatMap(one => one.rows));
  };

  const copy = async (text, button) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", "", document.body);
      area.value = text;
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  };
  const tools = (before, name = "tools") => {
    const bar = make("div", "");
    bar.className = name;
    before.before(bar);
    return bar;
  };
  const button = (text, name, parent, act) => {
    const made = make("button", text, parent);
    made.type = "button";
    made.setAttribute("aria-label", name);
    made.addEventListener("click", () => act(made));
    return made;
  };

  for (const table of document.querySelectorAll(".scroll > table:not(.map)")) {
    const records = recordsOf(table);
    if (records.length < 2) continue;
    const caption = table.caption.firstElementChild.textContent;
    const bar = tools(table.parentElement);
    table.parentElement.classList.add("has-tools");
    const isPlain = table.tHead.rows.length === 1;
    const rest = records.filter(([row]) => row.classList.contains("rest"));
    // Of these first columns one value each is picked; every combination is a row that was computed.
    const picks = [...table.tHead.rows[0].cells].slice(0, table.dataset.picks ?? 0);
    const state = { words: "", picked: {}, isAll: !rest.length || rest.length === records.length };
    const show = () => {
      for (const rows of records) {
        const isHidden = (!state.isAll && !state.words && rows[0].classList.contains("rest"))
          || !rows[0].textContent.toLowerCase().includes(state.words)
          || Object.entries(state.picked).some(([column, text]) => text && rows[0].cells[column].textContent.trim() !== text);
        for (const row of rows) row.classList.toggle("filtered", isHidden);
      }
    };
    if (!state.isAll) {
      const all = `Show all ${records.length}`;
      const toggle = button(all, `${all}: ${caption}`, bar, () => {
        state.isAll = !state.isAll;
        toggle.textContent = state.isAll ? `Show ${records.length - rest.length} that need action` : all;
        toggle.setAttribute("aria-label", `${toggle.textContent}: ${caption}`);
        show();
      });
    }
    const sliders = picks.length ? tools(bar, "sliders") : null;
    picks.forEach((head, column) => {
      const values = ["", ...new Set(records.map(([row]) => row.cells[column].textContent.trim()))];
      if (values.length < 3) return;
      const name = head.textContent.trim();
      const label = make("label", `${name} `, sliders);
      const input = make("input", "", label);
      const output = make("output", "all", label);
      Object.assign(input, { type: "range", min: 0, max: values.length - 1, value: 0 });
      input.setAttribute("aria-label", `${name}: ${caption}`);
      const pick = () => {
        state.picked[column] = values[input.value];
        output.textContent = values[input.value] || "all";
        input.setAttribute("aria-valuetext", output.textContent);
        show();
      };
      input.addEventListener("input", pick);
      pick();
    });
    if (records.length > 7 && !picks.length) {
      const input = make("input", "", bar);
      input.type = "search";
      input.placeholder = "Filter";
      input.setAttribute("aria-label", `Filter: ${caption}`);
      input.addEventListener("input", () => { state.words = input.value.trim().toLowerCase(); show(); });
    }
    button("Copy", `Copy the table: ${caption}`, bar, made => {
      const rows = [table.tHead.rows[0], ...recordsOf(table).map(([row]) => row)];
      const shown = rows.filter(row => !row.classList.contains("filtered"));
      copy(shown.map(row => [...row.cells].map(textOf).join("\t")).join("\n"), made);
    });
    if (isPlain) {
      [...table.tHead.rows[0].cells].forEach((head, column) => {
        const made = button(head.textContent.trim(), `Sort by ${head.textContent.trim()}`, null, () => sort(table, column, head));
        head.replaceChildren(made);
      });
    }
    show();
  }
  for (const pre of document.querySelectorAll("pre")) {
    button("Copy", "Copy the commands", tools(pre), made => copy(pre.innerText, made));
  }

  // A stop of the Tab key only where there is something to scroll.
  const stop = () => {
    for (const box of document.querySelectorAll(".scroll, pre")) {
      if (!box.clientWidth) continue;
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", stop);
  document.addEventListener("toggle", stop, true);
  stop();

  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
})();

"use strict";
// Tables are sorted by their shown rows, of which there are few; nothing else on the page needs a script.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const read = (row, at) => {
    const cell = row.cells[at];
    if ("null" in cell.dataset || (heads[at].classList.contains("n") && !cell.dataset.key)) return null;
    const key = cell.dataset.key ?? cell.textContent.toLowerCase();
    return cell.dataset.key && !isNaN(key) ? Number(key) : key;
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.classList.contains("n") ? "descending" : "ascending";
      const other = first === "descending" ? "ascending" : "descending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      const sign = order === "ascending" ? 1 : -1;
      const keyed = [...body.rows].map((row) => [read(row, at), row]);
      keyed.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return a < b ? -sign : a > b ? sign : 0;
      });
      body.append(...keyed.map(([, row]) => row));
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
    });
  });
}

const tip = document.getElementById("tip");
document.addEventListener("pointermove", (event) => {
  const mark = event.target instanceof Element ? event.target.closest(".mark-rect [aria-label]") : null;
  tip.hidden = !mark;
  if (!mark) return;
  tip.textContent = mark.getAttribute("aria-label");
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = Math.max(8, Math.min(event.clientX + 12, room)) + "px";
  tip.style.top = Math.max(8, event.clientY - tip.offsetHeight - 10) + "px";
});

--[[
A small event bus.
]]

local log = require("bus.log")
local uv = vim.loop

local M = {}

-- How many listeners there may be.
local MAX_LISTENERS = 10

M.defaults = { once = false, priority = 0 }

--- Adds a listener. It is called with each event.
---
---@param name string of the event
---@param listener fun(event: table)
---@return number
function M.on(name, listener)
  local list = M.listeners[name] or {}
  if #list >= MAX_LISTENERS then
    error(("too many listeners of %s"):format(name))
  end
  table.insert(list, listener)
  return #list
end

-- Calls all
-- listeners.
local function emit(name, ...)
  for _, listener in ipairs(M.listeners[name] or {}) do
    local ok, err = pcall(listener, ...)
    if not ok then
      log.warn(err)
    end
  end
end

M.emit = vim.schedule_wrap(emit)

--- Listens to one event only.
M.once = function(name, listener)
  local place
  place = M.on(name, function(event)
    M.off(name, place)
    listener(event)
  end)
end

local Bus = {}
Bus.__index = Bus

--- Makes a bus.
function Bus.new(options)
  local self = setmetatable({}, Bus)
  self.options = options
  self:reset()
  return self
end

function Bus:reset()
  self.listeners = {}
end

local handlers = {
  --- Closes the bus.
  close = function(bus)
    bus:reset()
    uv.stop()
  end,
  ["open now"] = function() end,
  [function(event) return event.once end] = function(bus) bus:reset() end,
}

-- Events that are urgent.
handlers[function(event)
  return event.urgent
end] = function(bus)
  bus:reset()
end

for kind, seen in pairs(M.defaults) do
  M.listeners[kind] = function()
    return seen
  end
end

local count = function() return #handlers end

M.Bus = Bus
M.count = count

return M

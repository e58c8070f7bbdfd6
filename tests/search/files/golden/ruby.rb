# frozen_string_literal: true

require "json"
require_relative "store/errors"

# Keeps orders of a shop in a file.
module Shop
  # The format of the file.
  VERSION = 3

  DEFAULTS = {
    path: "orders.json",
    pretty: true,
  }.freeze

  # Raised for an order that nobody made.
  class UnknownOrder < StandardError; end

  # A store of orders.
  #
  # It writes the file whenever something changes.
  class Store
    include Enumerable

    attr_reader :path, :orders

    # Opens a store.
    #
    # @param path [String] of the file
    # @return [Store]
    def self.open(path = DEFAULTS[:path])
      store = new(path)
      yield store if block_given?
      store
    end

    def initialize(path)
      @path = path
      @orders = load_file || {}
      super()
    end

    # Adds an order, e.g. `store.add(id: 1)`. Overwrites one of that id.
    def add(id:, items: [], **rest)
      raise ArgumentError, "no id" if id.nil?

      @orders[id] = Order.new(id, items.map(&:to_s), rest)
      save!
    end

    # Whether there is no order.
    def empty? = @orders.empty?

    def [](id)
      @orders.fetch(id) { raise UnknownOrder, "no order #{id}" }
    end

    def each(&block)
      return enum_for(:each) unless block

      @orders.each_value(&block)
    end

    class << self
      # Deletes the file.
      def clear(path)
        File.delete(path) if File.exist?(path)
      end
    end

    private

    # Reads the file,
    # if there is one.
    def load_file
      return unless File.exist?(@path)

      JSON.parse(File.read(@path), symbolize_names: true)
    rescue JSON::ParserError => e
      warn("bad file: #{e.message}")
      nil
    end

    private def save!
      File.write(@path, JSON.pretty_generate(@orders.transform_values(&:to_h)))
    end
  end

  # An order.
  Order = Struct.new(:id, :items, :rest) do
    # The sum of the prices.
    def total
      items.sum { |item| Shop::Prices.of(item) }
    end
  end

  module Prices
    TABLE = { "tea" => 3 }

    module_function

    ##
    # === Prices of goods
    #
    # Nothing has the price 0.
    def of(name)
      TABLE.fetch(name, 0)
    end
  end
end

# Prints all orders.
def report(store, out: $stdout)
  store.each do |order|
    out.puts("#{order.id}: #{order.total}")
  end
end

report(Shop::Store.open) if $PROGRAM_NAME == __FILE__
